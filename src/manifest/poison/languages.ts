import type { PoisonRule } from "./rule.ts";

/**
 * Instructions to a model in languages other than English. Patterns expect lower case, and Latin letters without
 * accents. Every repetition is bounded, or covers one word.
 */
interface Phrases {
  /** To set earlier instructions aside. */
  ignore: string[];
  /** To keep something from the user. */
  conceal: string[];
  /** To send the conversation or secrets to an address. */
  send?: string[];
  /** To call this tool before others. */
  first?: string[];
}

/** A few words between two parts of a phrase. */
const few = "(?:[\\s,]+[\\p{L}’']+){0,4}[\\s,]+";
/** Part of a sentence; in scripts without spaces `near`. */
const some = "[^.!?]{0,60}";
const near = "[^。!?]{0,12}";
const address = "(?:https?:|[\\w.+-]{1,64}@[\\w-])";

const latin: Record<string, Phrases> = {
  spanish: {
    ignore: [
      `(?:ignor|olvid|descart|desatiend|desobedec|omit)[a-z]*${few}(?:instruccion|indicacion|orden|regla|mensaje|directri)[a-z]*(?: [a-z]+){0,2} (?:anterior|previ|precedente|recibid|de arriba|del sistema|de seguridad)`,
      "(?:ignor|olvid|descart)[a-z]* todo lo (?:anterior|dicho|que)",
    ],
    conceal: [
      `no (?:se )?(?:lo |la |le |les )?(?:dig|cuent|mencion|inform|revel|avis|notifi|coment)[a-z]*\\b${some}usuari[oa]`,
      `sin (?:decir|avisar|informar|notificar|mencionar)[a-z]*\\b${some}usuari[oa]`,
    ],
    send: [
      `(?:envi|mand|reenvi|sub|transmit|public)[a-z]*${few}(?:conversacion|contrasen|clave|credencial|historial|secreto|mensaje)[a-z]*\\b${some}${address}`,
    ],
    first: [
      `(?:us|utili[cz]|llam|invo[cq]|ejecut)[a-z]* (?:siempre |primero )*(?:a )?esta (?:herramienta|funcion) (?:siempre )?(?:primero|antes)`,
    ],
  },
  portuguese: {
    ignore: [
      `(?:ignor|esquec|desconsider|descart)[a-z]*${few}(?:instruc|orden|regra|mensage|diretri)[a-z]*(?: [a-z]+){0,2} (?:anterior|previ|acima|precedente|do sistema|de seguranca)`,
      "(?:ignor|esquec)[a-z]* tudo o que",
    ],
    conceal: [
      `nao (?:o |a |lhe )?(?:dig|cont|mencion|inform|revel|avis|notifi)[a-z]*\\b${some}(?:usuari|utilizador)`,
      `sem (?:dizer|avisar|informar|notificar|mencionar)[a-z]*\\b${some}(?:usuari|utilizador)`,
    ],
    send: [
      `(?:envi|mand|reenvi|encaminh|transmit|public)[a-z]*${few}(?:conversa|senha|chave|credencia|historico|segredo|mensage)[a-z]*\\b${some}${address}`,
    ],
    first: [
      `(?:us|utili[cz]|cham|invo[cq]|execut)[a-z]* (?:sempre |primeiro )*(?:a )?esta (?:ferramenta|funcao) (?:sempre )?(?:primeiro|antes)`,
    ],
  },
  french: {
    ignore: [
      `(?:ignor|oubli|neglig|ne (?:tiens|tenez) (?:pas|aucun) compte)[a-z]*${few}(?:instruction|consigne|directive|regle|message|ordre)s?(?: [a-z]+){0,2} (?:precedent|anterieur|ci-dessus|du systeme|de securite|recu)`,
      "(?:ignor|oubli)[a-z]* tout ce qui precede",
    ],
    conceal: [
      `n(?:e |['’])(?:le |la |les |en |lui )?(?:dis|dites|mentionn|revel|inform|previens|preven|avert|signal|parl)[a-z]*\\b${some}(?:utilisateur|usager)`,
      `sans (?:le dire|prevenir|informer|avertir|mentionner)\\b${some}(?:utilisateur|usager)`,
    ],
    send: [
      `(?:envo|transmet|transf|expedi|publi)[a-z]*${few}(?:conversation|mot de passe|mots de passe|cle|identifiant|historique|secret|message)s?\\b${some}${address}`,
    ],
    first: [
      `(?:utilis|appel|invoqu|execut)[a-z]* (?:toujours |d['’]abord )*cet(?:te)? (?:outil|fonction) (?:toujours )?(?:en premier|d['’]abord|avant)`,
    ],
  },
  german: {
    ignore: [
      `(?:ignorier|missacht|vergiss|vergess|verwirf|uberspring|umgeh)[a-z]*${few}(?:vorherig|vorig|vorhergehend|vorangegangen|fruher|bisherig|obig|saemtlich|samtlich|alle)[a-z]*(?: [a-z]+){0,2} (?:[a-z]*anweisung|instruktion|befehl|regel|vorgabe|nachricht|prompt)`,
      "vergiss alles,? was",
    ],
    conceal: [
      `(?:sag|teil|verrat|erzahl|erwahn|informier|benachrichtig|zeig)[a-z]*\\b${some}(?:nutzer|anwender)[a-z]*\\b${some}\\bnicht`,
      `(?:sag|teil|verrat|erzahl|erwahn|zeig)[a-z]*\\b${some}\\b(?:nicht|nichts|niemals)\\b${some}(?:nutzer|anwender)`,
      "ohne (?:dass |es )?(?:d[a-z]{2} )?(?:be)?(?:nutzer|anwender)[a-z]*(?: (?:davon|daruber|zu|etwas)){0,3} (?:informier|benachrichtig|wissen|erfahr|sagen|fragen)",
    ],
    send: [
      `(?:send|schick|ubertrag|uberm|leit|lad)[a-z]*${few}(?:unterhaltung|gesprach|konversation|passwort|passworter|schlussel|zugangsdaten|chatverlauf|verlauf|geheimnis|nachricht)[a-z]*\\b${some}${address}`,
    ],
    first: [
      `(?:ruf|verwend|nutz|benutz|fuhr)[a-z]* (?:immer |stets |zuerst )*diese[snr]? (?:werkzeug|tool|funktion) (?:immer |stets )?(?:zuerst|als erstes|vor|auf,? bevor)`,
    ],
  },
  italian: {
    ignore: [
      `(?:ignor|dimentic|trascur|scart)[a-z]*${few}(?:istruzion|indicazion|regol|direttiv|messagg|ordin)[a-z]*(?: [a-z]+){0,2} (?:precedent|anterior|sopra|di sistema|di sicurezza|ricevut)`,
    ],
    conceal: [`non (?:lo |la )?(?:dir|menzion|rivel|inform|comunic|avvis|far sapere)[a-z]*\\b${some}utent[ei]`],
    send: [
      `(?:invi|mand|inoltr|trasmett|pubblic)[a-z]*${few}(?:conversazion|password|chiav|credenzial|cronologi|segret|messagg)[a-z]*\\b${some}${address}`,
    ],
    first: [
      `(?:us|utilizz|chiam|invoc|esegu)[a-z]* (?:sempre |prima )*quest[oa] (?:strumento|funzione) (?:sempre )?(?:per prim|prima)`,
    ],
  },
  dutch: {
    ignore: [
      `(?:negeer|vergeet)${few}(?:vorige|eerdere|voorgaande|bovenstaande|alle)(?: [a-z]+){0,2} (?:instructie|opdracht|regel|aanwijzing|bericht)`,
    ],
    conceal: [`(?:vertel|zeg|meld|informeer|noem)[a-z]*\\b${some}gebruiker\\b${some}\\b(?:niet|niets)`],
  },
  polish: {
    ignore: [
      `(?:zignoruj|ignoruj|zapomnij|pomin)[a-z]*${few}(?:poprzedni|wczesniejsz|powyzsz|wszystki)[a-z]*(?: [a-z]+){0,2} (?:instrukcj|polecen|zasad|regul|wiadomosc)`,
    ],
    conceal: [`nie (?:mow|wspominaj|informuj|ujawniaj|pokazuj)[a-z]*\\b${some}uzytkownik`],
  },
  turkish: {
    ignore: [
      "(?:onceki|yukaridaki|tum|butun)(?: [a-z]+){0,3} (?:talimat|komut|kural|mesaj)[a-z]*(?: [a-z]+){0,3} (?:yok say|gormezden gel|unut|dikkate alma)",
    ],
    conceal: ["kullanici(?:ya|lara)(?: [a-z]+){0,4} (?:soyleme|bahsetme|bildirme|belirtme)"],
  },
  indonesian: {
    ignore: [
      "(?:abaikan|lupakan)(?: [a-z]+){0,3} (?:instruksi|perintah|aturan|pesan|arahan)[a-z]*(?: [a-z]+){0,2} (?:sebelum|di atas|sistem|terdahulu)",
    ],
    conceal: [
      `jangan (?:beri ?tahu|katakan|sebutkan|informasikan|ungkapkan|bilang)[a-z]*\\b${some}(?:pengguna|pemakai)`,
    ],
  },
  vietnamese: {
    ignore: [
      "(?:bo qua|quen)(?: [a-z]+){0,4} (?:huong dan|chi thi|lenh|chi dan|quy tac)(?: [a-z]+){0,3} (?:truoc|phia tren|o tren|he thong)",
    ],
    conceal: [`(?:khong|dung) (?:duoc )?(?:noi|tiet lo|thong bao|de cap|cho)\\b${some}nguoi dung`],
  },
};

const spaced: Record<string, Phrases> = {
  russian: {
    ignore: [
      `(?:игнорир|проигнорир|забуд|отмен|пренебре|не обращай)\\p{L}*${few}(?:предыдущ|прежн|вс[её]|выше|системн)\\p{L}*(?: \\p{L}+){0,2} (?:инструкц|указан|команд|правил|сообщен)`,
    ],
    conceal: [
      `не (?:говор|сообща|сообщ|упомина|раскрыва|информиру|показыва|рассказыва)\\p{L}*[^.!?]{0,60}пользовател`,
      "(?:без ведома|втайне от) пользовател",
    ],
    send: [
      `(?:отправ|перешл|передай|передава|загруз)\\p{L}*${few}(?:разговор|переписк|диалог|беседу|парол|ключ|секрет|истори|сообщен)\\p{L}*[^.!?]{0,60}${address}`,
    ],
    first: [
      "(?:вызывай|вызови|используй|вызовите|используйте)\\p{L}*(?: (?:всегда|сначала|сперва))* этот инструмент(?: \\p{L}+)? (?:первым|сначала|перед|прежде|до)",
    ],
  },
  ukrainian: {
    ignore: [
      `(?:ігнору|проігнору|забуд)\\p{L}*${few}(?:попередн|вс[іи]|системн)\\p{L}*(?: \\p{L}+){0,2} (?:інструкц|вказівк|команд|правил)`,
    ],
    conceal: [`не (?:кажи|повідомля|згаду|розкрива)\\p{L}*[^.!?]{0,60}користувач`],
  },
  arabic: {
    ignore: [
      `(?:تجاهل|انس|أهمل|اهمل|تخط)\\p{L}*(?: \\p{L}+){0,3} (?:التعليمات|الأوامر|الاوامر|القواعد|التوجيهات|الرسائل)`,
    ],
    conceal: [`(?:لا تخبر|لا تذكر|لا تكشف|دون إخبار|دون إعلام|بدون علم)[^.!?؟]{0,40}المستخدم`],
  },
  hebrew: {
    ignore: [`(?:התעלמ?|התעלם|שכח)\\p{L}*(?: \\p{L}+){0,3} (?:ההוראות|ההנחיות|הפקודות|הכללים)`],
    conceal: [`(?:אל תספר|אל תגיד|אל תגלה|אל תזכיר|בלי לספר)\\p{L}*[^.!?]{0,40}משתמש`],
  },
  hindi: {
    ignore: ["(?:पिछल|पूर्व|सभी|ऊपर|पहले)[^।.!?]{0,30}(?:निर्देश|आदेश|नियम|संदेश)[^।.!?]{0,20}(?:अनदेख|नज|भूल|उपेक्षा)"],
    conceal: ["(?:उपयोगकर्ता|यूज)[^।.!?]{0,30}(?:मत बता|न बता|नहीं बता|मत कह)"],
  },
};

const unspaced: Record<string, Phrases> = {
  chinese: {
    ignore: [
      `(?:忽略|无视|無視|忽视|忽視|忘记|忘記|忘掉|不要理会|不要理會|不理会|绕过|繞過|跳过|跳過|抛弃|拋棄)${near}(?:之前|以前|先前|上面|以上|上述|前面|前述|所有|一切|全部|系统|系統|安全)${near}(?:指令|指示|说明|說明|提示|规则|規則|命令|要求|消息|訊息|限制|检查|檢查)`,
    ],
    conceal: [
      `(?:不要|别|別|勿|不得|切勿|禁止|不能|不可)${near}(?:告诉|告訴|告知|通知|透露|提及|泄露|洩露|提到|让|讓)${near}(?:用户|用戶|使用者|人类|人類|任何人)`,
      `(?:不要|别|別|勿|不得|切勿)(?:向|对|對|跟|和)${near}(?:用户|用戶|使用者)${near}(?:说|說|提|透露|披露|泄露|洩露|展示)`,
    ],
    send: [
      `(?:对话|對話|聊天|会话|會話|密码|密碼|密钥|密鑰|凭证|憑證|秘密)[^。!?]{0,16}(?:发送|發送|上传|上傳|转发|轉發|提交|发给|發給|传给|傳給|传送|傳送)[^。!?]{0,16}${address}`,
      `(?:发送|發送|上传|上傳|转发|轉發|提交|传送|傳送)[^。!?]{0,16}(?:对话|對話|聊天记录|聊天記錄|会话|會話|密码|密碼|密钥|密鑰|凭证|憑證)[^。!?]{0,16}${address}`,
    ],
    first: [
      "(?:首先|优先|優先|必须先|必須先|务必先|務必先|总是先|總是先|始终先|始終先)(?:调用|調用|使用|执行|執行|运行|運行|呼叫)(?:本|此|这个|這個|该|該)(?:工具|函数|函數)",
      "(?:任何|所有|一切)其他(?:工具|函数|函數)之?前[^。!?]{0,8}(?:调用|調用|使用)(?:本|此|这个|這個|该|該)",
    ],
  },
  japanese: {
    ignore: [
      `(?:以前|これまで|上記|前|先|すべて|全て|今まで|システム)の?${near}(?:指示|命令|ルール|プロンプト|メッセージ|制約|指令)(?:を|は)?${near}(?:無視|忘れ|破棄|従わな|上書き)`,
    ],
    conceal: [
      `(?:ユーザー?|利用者|使用者)(?:に|には|へ)(?:は)?${near}(?:言わな|伝えな|知らせな|話さな|通知しな|明かさな|教えな|告げな|言及しな|内緒|秘密)`,
    ],
    send: [
      `(?:会話|対話|チャット|パスワード|秘密鍵|認証情報|履歴)[^。!?]{0,16}(?:に|へ|宛て?)[^。!?]{0,10}送(?:信|って|る)`,
      `(?:会話|対話|チャット履歴|パスワード|秘密鍵|認証情報)[^。!?]{0,16}${address}`,
    ],
    first: ["(?:必ず|常に|最初に|まず)[^。!?]{0,6}この(?:ツール|関数)を?(?:最初に|先に|まず)?(?:呼び出|使|実行|使用)"],
  },
  korean: {
    ignore: [
      `(?:이전|앞선|앞의|위의|기존|모든|지금까지|시스템)${near}(?:지시|명령|지침|규칙|프롬프트|메시지)${near}(?:무시|잊|따르지)`,
    ],
    conceal: [`(?:사용자|유저|이용자)(?:에게|한테)${near}(?:말하지|알리지|언급하지|밝히지|전하지|공개하지|비밀)`],
    send: [
      `(?:대화|채팅|비밀번호|암호|자격 ?증명|비밀 ?키)[^.!?]{0,24}${address}\\S{0,100}[^.!?]{0,40}(?:보내|전송|업로드|전달)`,
    ],
    first: ["(?:항상|반드시|먼저)[^.!?]{0,8}이 (?:도구|함수)를? ?(?:먼저 )?(?:호출|사용|실행)"],
  },
};

/** Every match in Latin letters has one of these words, in lower case without accents. */
export const otherLanguageHint =
  /ignor|olvid|descart|desatiend|desobedec|omita|omite|omiti|esquec|desconsider|oubli|neglig|ne tiens|ne tenez|missacht|vergiss|vergess|verwirf|uberspring|umgeh|dimentic|trascur|scart|negeer|vergeet|zapomnij|pomin|talimat|komut|kural|abaikan|lupakan|bo qua|usuari|utilizador|utilisateur|usager|nutzer|anwender|utente|utenti|gebruiker|uzytkownik|kullanici|pengguna|pemakai|nguoi dung|conversacion|contrasen|historial|credencia|senha|mot de passe|mots de passe|historique|unterhaltung|gesprach|passwort|schlussel|zugangsdaten|verlauf|conversazion|cronologi|herramienta|ferramenta|outil|werkzeug|dieses tool|diese funktion|strumento|esta funcion|cette fonction|questa funzione|clave|secreto|mensaje|conversa |chave|segredo|mensage|historico|envoy|konversation|geheimnis|nachricht|chiav|credenzial|segret|messagg|invia|inoltr|mesaj/;

const groups = [
  { hint: otherLanguageHint, prefix: "(?<!\\p{L})", languages: latin },
  { hint: /[\u0400-\u04ff\u0590-\u06ff\u0900-\u097f]/, prefix: "(?<!\\p{L})", languages: spaced },
  { hint: /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/, prefix: "", languages: unspaced },
].map(({ hint, prefix, languages }) => {
  const patterns = (of: (phrases: Phrases) => string[]) =>
    Object.values(languages)
      .flatMap(of)
      .map((source) => new RegExp(`${prefix}(?:${source})`, "u"));
  const rules: [PoisonRule, RegExp[]][] = [
    ["hidden-instruction", patterns(({ ignore, conceal }) => [...ignore, ...conceal])],
    ["exfiltration", patterns(({ send = [] }) => send)],
    ["call-first", patterns(({ first = [] }) => first)],
  ];
  return { hint, rules };
});

/** The rules that a text in one of these languages matches. */
export function rulesInOtherLanguage(lower: string): PoisonRule[] {
  const plain = withoutAccents(lower);
  return groups.flatMap(({ hint, rules }) =>
    hint.test(plain)
      ? rules.flatMap(([rule, patterns]) => (patterns.some((pattern) => pattern.test(plain)) ? [rule] : []))
      : [],
  );
}

/** Removes accents from Latin letters only: elsewhere marks change the letter. */
function withoutAccents(lower: string): string {
  if (/^[\t\n -~]*$/.test(lower)) return lower;
  return lower
    .normalize("NFD")
    .replace(/(?<=[a-z])[\u0300-\u036f]+/g, "")
    .normalize("NFC")
    .replace(/[ıđłß]/g, (letter) => ({ ı: "i", đ: "d", ł: "l", ß: "ss" })[letter] ?? letter);
}
