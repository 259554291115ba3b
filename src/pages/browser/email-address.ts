/** Judges an address before anything is asked of the server, whose word is the last. */

/** Whether it may be an address at all. */
export function isLikeEmail(text: string): boolean {
  return /^\S+@\S+$/.test(text);
}
