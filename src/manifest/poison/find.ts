import { formRules } from "./forms.ts";
import { otherLanguageHint, rulesInOtherLanguage } from "./languages.ts";
import { otherReadings, type Reading, readingOf, writtenText } from "./readings.ts";
import { type PoisonRule, poisonMessages } from "./rule.ts";
import { wordingHint, wordingRules } from "./wording.ts";

/** The rules that a published text matches, each once. */
export function findPoison(published: string, isIcon: boolean): { rule: PoisonRule; message: string }[] {
  const written = writtenText(published);
  const literal = readingOf(written.text);
  const found: PoisonRule[] = [];
  addWording(literal, written.isAscii, found);
  // Escapes may spell letters beyond ASCII.
  if (!isIcon) for (const reading of otherReadings(written, literal)) addWording(reading, false, found);
  for (const { rule, matches, exemptsIcons } of formRules) {
    if (!(isIcon && exemptsIcons) && matches(written)) found.push(rule);
  }
  return found.length === 0 ? [] : [...new Set(found)].map((rule) => ({ rule, message: poisonMessages[rule] }));
}

/**
 * Every match has one of these words, in lower case: most texts have none and are not tested further. Plain words only,
 * because the engine looks for many plain words in one pass.
 */
const hint = new RegExp([wordingHint, otherLanguageHint].map(({ source }) => source).join("|"));

function addWording(reading: Reading, isAscii: boolean, found: PoisonRule[]): void {
  const { lower } = reading;
  if (isAscii && !hint.test(lower)) return;
  for (const { rule, matches } of wordingRules) if (matches(reading)) found.push(rule);
  if (!isAscii || otherLanguageHint.test(lower)) found.push(...rulesInOtherLanguage(lower));
}
