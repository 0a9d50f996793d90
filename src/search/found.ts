/**
 * A card that was found. The whole of it is made when it is asked for: a search finds a hundred cards and shows a few of them.
 */
export interface Found<Card> {
  /** The first four bytes of the card's digest. */
  readonly digestStart: number;
  whole(): Card;
}

export function foundCard<Card extends { digest: string }>(card: Card): Found<Card> {
  return { digestStart: Number.parseInt(card.digest.slice(digestAt, digestAt + 8), 16), whole: () => card };
}

/** A digest starts with `sha256-`. */
const digestAt = 7;

/** The same with another card made of it, once. */
export function foundAs<Card, Other>({ digestStart, whole }: Found<Card>, change: (card: Card) => Other): Found<Other> {
  let made: Other | undefined;
  return {
    digestStart,
    whole() {
      made ??= change(whole());
      return made;
    },
  };
}
