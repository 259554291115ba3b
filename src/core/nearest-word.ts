/** Returns the nearest of the words, ignoring case; null if none is near. */
export function nearestWord(word: string, words: readonly string[]): string | null {
  const most = Math.max(1, Math.floor(word.length / 3));
  let found: string | null = null;
  let least = most + 1;
  for (const candidate of words) {
    if (Math.abs(candidate.length - word.length) > most) continue;
    const distance = editsBetween(word.toLowerCase(), candidate.toLowerCase());
    if (distance < least) [found, least] = [candidate, distance];
  }
  return found;
}

/** Returns the edit distance: letters to insert, remove, replace, or swap with their neighbour. */
function editsBetween(from: string, to: string): number {
  let [before, last]: [number[], number[]] = [[], Array.from({ length: to.length + 1 }, (_, at) => at)];
  for (let row = 1; row <= from.length; row += 1) {
    const next = [row];
    for (let at = 1; at <= to.length; at += 1) {
      const isSame = from[row - 1] === to[at - 1];
      const costs = [(last[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1, (last[at - 1] ?? 0) + (isSame ? 0 : 1)];
      const isSwap = row > 1 && at > 1 && from[row - 1] === to[at - 2] && from[row - 2] === to[at - 1];
      if (isSwap) costs.push((before[at - 2] ?? 0) + 1);
      next.push(Math.min(...costs));
    }
    [before, last] = [last, next];
  }
  return last[to.length] ?? 0;
}
