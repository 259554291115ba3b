/** Limits how many slots each subject holds at once, in memory for as long as it holds any. */

/** Takes a slot. @returns the function that releases it, to be called once. */
export type TakePlace = (subject: string) => () => void;

/** @param max slots of one subject; null is no limit. @param refusal makes the error thrown at the limit. */
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
