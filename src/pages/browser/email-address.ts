/** Checks an address before the server does, whose check is authoritative. */

export function isLikeEmail(text: string): boolean {
  return /^\S+@\S+$/.test(text);
}
