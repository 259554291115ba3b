/** Formats quantities for people, in the output of commands and in the log. */

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** Returns text such as `1.4 GiB`. */
export function bytesText(bytes: number): string {
  const step = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
  const value = bytes / 1024 ** step;
  return `${value >= 10 || step === 0 ? Math.round(value) : value.toFixed(1)} ${UNITS[step]}`;
}

export function secondsText(ms: number): string {
  const seconds = ms / 1000;
  return seconds < 10 ? `${seconds.toFixed(1)} s` : `${Math.round(seconds)} s`;
}

/** Returns `1 mail` or `3 mails`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? noun : plural}`;
}

/** Returns a waiting or remaining time such as `3 minutes`. */
export function lasting(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return counted(seconds, 'second');
  if (seconds < 2 * 3600) return counted(Math.round(seconds / 60), 'minute');
  return seconds < 48 * 3600
    ? counted(Math.round(seconds / 3600), 'hour')
    : counted(Math.floor(seconds / 86_400), 'day');
}
