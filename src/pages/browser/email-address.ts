/** Checks an address before the server does, whose check is authoritative. */

/** Returns whether the text could be an address. */
export function isLikeEmail(text: string): boolean {
  return /^\S+@\S+$/.test(text);
}
