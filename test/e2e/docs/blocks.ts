/** A fenced block of a page. Lines are counted from 0, the fences included. */
interface Fence {
  language: string;
  /** Words behind the language in the info string, such as `norun`. */
  words: string[];
  text: string;
  from: number;
  to: number;
}

export interface ShellBlock {
  page: string;
  /** Line of the opening fence, as an editor counts. */
  line: number;
  command: string;
  isRun: boolean;
  /** What the page says the command prints: the block right behind, with nothing but empty lines between. */
  shown: { language: string; text: string; from: number; to: number } | undefined;
}

const answerLanguages = ["json", "yaml", "text", "http"];

export function shellBlocks(page: string, text: string): ShellBlock[] {
  const lines = text.split("\n");
  const fences = fencesOf(lines);
  return fences.flatMap((fence, index) => {
    if (fence.language !== "sh") return [];
    const next = fences[index + 1];
    const isBehind = next !== undefined && lines.slice(fence.to + 1, next.from).every((line) => line.trim() === "");
    const shown = isBehind && answerLanguages.includes(next.language) ? next : undefined;
    return [{ page, line: fence.from + 1, command: fence.text, isRun: !fence.words.includes("norun"), shown }];
  });
}

/** The page with other texts in answer blocks. Given in the order of the page. */
export function withAnswers(text: string, answers: { from: number; to: number; text: string }[]): string {
  const lines = text.split("\n");
  for (const { from, to, text: answer } of answers.toReversed()) {
    lines.splice(from + 1, to - from - 1, ...answer.split("\n"));
  }
  return lines.join("\n");
}

function fencesOf(lines: string[]): Fence[] {
  const fences: Fence[] = [];
  let open: Omit<Fence, "text" | "to"> | undefined;
  lines.forEach((line, index) => {
    const [, info] = /^```(.*)$/.exec(line) ?? [];
    if (info === undefined) return;
    if (open === undefined) {
      const [language = "", ...words] = info.trim().split(/\s+/);
      open = { language, words, from: index };
    } else {
      fences.push({ ...open, text: lines.slice(open.from + 1, index).join("\n"), to: index });
      open = undefined;
    }
  });
  return fences;
}
