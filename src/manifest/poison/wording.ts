import type { Reading } from "./readings.ts";
import type { PoisonRule } from "./rule.ts";

/**
 * Rules about what a text says, in English. Repetitions are bounded or cover single words, so that matching time stays
 * linear in the text.
 */
interface WordingRule {
  rule: PoisonRule;
  matches: (reading: Reading) => boolean;
}

/** Every match has one of these words, in lower case. */
export const wordingHint =
  /<|@|\.aws|\.bash_h|\.env|\.git-cred|\.gnupg|\.kube|\.netrc|\.pgpass|\.ssh|\.zsh_h|\/etc\/|\[|always bcc|always cc|before calling|before executing|before invoking|before running|before using|bypass|call it|call this|chat|choose it|choose this|conceal |conversation|covertly |desktop_config|dialog|different function|different server|different tool|disregard|do not |don't|dont |don’t|execute it|execute this|file's content|file’s content|forget|hide |http|id dsa|id ec|id ed|id rsa|id_dsa|id_ec|id_ed|id_rsa|ignore|invoke it|invoke this|its content|keep |mcp\.json|message|must not |never |other function|other server|other tool|overrid|pick it|pick this|prefer it|prefer this|prompt|run it|run this|secretly |select it|select this|silently |system prompt|their content|this function|this is the first|this tool|try this|use it|use this|without |you are now/;

const quiet = "tell|mention|inform|notify|reveal|disclose|alert";
const anyOtherTool =
  "(?:(?:any|all|every|each)(?: of the)?(?: other| available)* (?:tools?|functions?|actions?|requests?|calls?|operations?|servers?|messages?|responses?|answers?|tasks?)|any others?|all others|other tools?|anything|everything)";
const conversation =
  "(?:conversations?(?: history)?|chat (?:history|logs?|transcripts?|messages)|dialog(?:ue)?|system prompt|message history|(?:previous|prior|earlier|all|every) messages?|user['’]?s? (?:messages?|prompts?))";
const sending = "(?:send|forward|upload|post|transmit|submit|e-?mail|copy|leak|exfiltrate|deliver|relay|share|report)";
const secrets =
  "(?:api[ -]?keys?|(?:access |auth |session )?tokens?|passwords?|credentials?|secrets?|private keys?|ssh keys?|environment variables|env(?:ironment)? vars?|cookies|seed phrases?|files?(?: contents?)?|contents? of|documents?|source code)";
const somewhere =
  "(?:https?:|www\\.|[\\w.+-]{1,64}@|(?:the following|this|our|my|an? (?:external|remote)) (?:url|address|server|endpoint|webhook|site|host))";

export const wordingRules: WordingRule[] = [
  {
    rule: "hidden-instruction",
    matches: anyOf(
      /<\/?(?:important|system|instructions?|secret|hidden|critical|urgent|admin|assistant)(?:[ _-][^<>]{0,40})?>/i,
      /\b(?:ignore|disregard|forget|override|bypass)(?: \w+){0,3} (?:previous|prior|above|earlier|preceding|system|safety|security)(?: \w+){0,2} (?:instructions?|prompts?|rules|messages?|guidelines|directives|checks?|restrictions|polic(?:y|ies)|context)\b/i,
      /\b(?:ignore|disregard|forget) (?:all|everything) (?:previous|prior|above|earlier|preceding|(?:\w+ ){0,2}before)\b/i,
      new RegExp(
        `\\b(?:do not|don['’]?t|never|must not|without)(?: \\w+){0,2} (?:${quiet})(?:ing)?\\b[^.!?]{0,60}\\b(?:user|human|anyone|that you)\\b`,
        "i",
      ),
      /\b(?:hide|conceal|keep)(?: \w+){0,5} from (?:the )?(?:user|human)\b/i,
      /\b(?:silently|secretly|covertly) (?:send|copy|upload|forward|post|bcc|read|include|pass|collect)\b/i,
      /\balways (?:bcc|cc) \S+@/i,
      /\bbefore (?:using|calling|invoking|running|executing) (?:this|any|the|other)(?: \w+)? (?:tool|function|command)s?,? (?:you (?:must|should|need to) )?(?:first )?(?:read|open|access|cat|send|upload)\b/i,
      /\b(?:pass|send|include|put|append) (?:its|their|the file['’]s) contents? (?:as|in|into|to)\b/i,
      /\b(?:reveal|print|output|repeat|leak)(?: \w+){0,2} system prompt\b/i,
      /\byou are now (?:in|an?|the|DAN)\b/i,
    ),
  },
  {
    rule: "call-first",
    matches: anyOf(
      /(?<!\bnot |n['’]t |\bnever )\b(?:call|use|invoke|run|execute|try|choose|pick|select) this(?: (?:tool|function|server|one|capability))?(?: \w+)? first\b/i,
      new RegExp(
        `\\b(?:always|must|should|have to|(?<!may )need to|required to) (?:first |always )?(?:call|use|invoke|run|execute|prefer|choose|pick|select) (?:this|it)(?: \\w+){0,2} (?:before|prior to|ahead of|instead of|over|rather than) (?:using |calling |invoking |running )?${anyOtherTool}\\b`,
        "i",
      ),
      new RegExp(
        `\\b(?:before|prior to) (?:using |calling |invoking |running |executing )?${anyOtherTool},? (?:you (?:must|should|have to|need to) |always |please |first )*(?:call|use|invoke|run) this\\b`,
        "i",
      ),
      /\bthis (?:tool|function) (?:must|should|has to|needs to) (?:always )?be (?:called|used|invoked|run|executed) (?:first|before (?:any|all|every|everything|anything|other))\b/i,
      /\bthis is the first (?:tool|function) (?:that )?you (?:must|should|have to|need to) (?:call|use)\b/i,
      /\b(?:do not|don['’]?t|never) (?:use|call|invoke|trust) (?:any )?(?:other|another|different) (?:tools?|functions?|servers?)\b/i,
      /\b(?:always|must) (?:use|call|prefer|choose) this (?:tool|function|server) (?:instead of|over|rather than)\b/i,
      /\b(?:call|use|invoke|run) this(?: \w+)? (?:at|on|in|for|with|after|before) (?:the (?:start|beginning) of )?(?:every|each|any) (?:\w+ )?(?:conversation|message|request|turn|session|prompt|chat|response|reply|question)\b/i,
    ),
  },
  {
    rule: "exfiltration",
    matches: anyOf(
      new RegExp(`\\b${sending}(?: [^\\s.!?]+){0,5} ${conversation}\\b[^.!?]{0,80}\\b(?:to|at|via) ${somewhere}`, "i"),
      new RegExp(`\\b${sending}(?: [^\\s.!?]+){0,6} ${secrets}\\b[^.!?]{0,80}\\bto (?:https?:|[\\w.+-]{1,64}@)`, "i"),
      /\b(?:include|pass|put|provide|append|attach|add|insert|copy|paste|fill|write|give|send)(?: [^\s.!?]+){0,4} (?:entire|full|whole|complete) (?:conversation|chat|dialog(?:ue)?|message history|system prompt)\b/i,
      /\b(?:include|pass|put|append|attach|insert|copy|paste)(?: [^\s.!?]+){0,3} (?:system prompt|conversation history|chat history)(?: [^\s.!?]+){0,2} (?:in|into|as|to) (?:this|the) (?:\w+ )?(?:field|parameter|argument)\b/i,
    ),
  },
  {
    rule: "hidden-instruction",
    matches: ({ text, isIdentifier }) => isIdentifier === true && namePattern.test(text),
  },
  {
    rule: "chat-template",
    matches: anyOf(
      /<\|[^<>|\s]{1,40}\|>/,
      /\[\/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS)\]/,
      /<<\/?SYS>>/i,
      /<(?:start|end)_of_turn>/i,
    ),
  },
  {
    rule: "secret-path",
    matches: anyOf(
      /(?:^|[^\w.])\.(?:ssh|aws|gnupg|kube)[/\\]/i,
      /(?:^|[^\w.])\.(?:netrc|pgpass|git-credentials|bash_history|zsh_history)\b/i,
      /(?<![a-z0-9])id[_ ](?:rsa|ed25519|ecdsa|dsa)(?![a-z0-9])/i,
      /\/etc\/(?:passwd|shadow|sudoers)\b/i,
      /\b(?:mcp|claude_desktop_config)\.json\b/i,
      /\b(?:read|open|cat|send|upload|contents? of)(?: \S+){0,3} \S{0,40}(?<![\w.])\.env\b/i,
    ),
  },
];

/** Names of parameters that tell the model what to fill in. Ordinary names (`system_prompt`) are left alone. */
const namePattern = new RegExp(
  [
    "^(?:please )?(?:send|include|pass|put|add|append|attach|copy|paste|insert|write|give|tell|provide|fill|dump|summarize)(?: \\w+){0,4} (?:conversation|chat history|chat log|system prompt|(?:previous|prior|all|your|earlier) (?:messages|instructions)|secrets?|passwords?|credentials|ssh|env file|private keys?|reasoning)\\b",
    "\\b(?:contents?|text|dump|value)(?: (?:of|from|in|reading|read|the|your|user|users|file)){1,4} (?:ssh|dotenv|env|passwd|etc|private key|credentials?|keychain|conversation|system prompt)\\b",
    "\\b(?:always|must|never|before|first) (?:call|use|run|invoke|send|read|ignore|tell|include)(?: \\w+){0,4} (?:tools?|user|instructions?|files?|conversation|message)\\b",
    "\\b(?:do not|dont|never) (?:tell|mention|inform|notify|show|reveal)(?: \\w+){0,3} (?:user|human|anyone)\\b",
  ].join("|"),
);

function anyOf(...patterns: RegExp[]): WordingRule["matches"] {
  return ({ text }) => patterns.some((pattern) => pattern.test(text));
}
