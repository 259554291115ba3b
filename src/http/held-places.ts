/** How many places each subject holds of those it may, in memory for as long as it holds any. */

/** @returns takes a place; what that returns gives it back, and is to be called once. */
export type TakePlace = (subject: string) => () => void;

/**
 * @param max of one subject; null is no limit.
 * @param refusal what is thrown where a subject has them all.
 */
export function heldPlaces(max: number | null, refusal: (max: number) => Error): TakePlace {
  const held = new Map<string, number>();
  return (subject) => {
    const own = held.get(subject) ?? 0;
    if (max !== null && own >= max) throw refusal(max);
    held.set(subject, own + 1);
    return () => {
      const left = (held.get(subject) ?? 0) - 1;
      if (left > 0) held.set(subject, left);
      else held.delete(subject);
    };
  };
}
