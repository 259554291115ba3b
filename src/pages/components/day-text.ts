/**
 * Returns the day of a timestamp in the reader's zone, such as `23 November`; with its year unless it is this one. Its
 * parts stay on one line.
 */
export function dayText(locale: string, timestamp: string): string {
  const at = new Date(timestamp);
  const isThisYear = at.getFullYear() === new Date().getFullYear();
  const year = isThisYear ? undefined : 'numeric';
  return new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'long', year }).format(at).replaceAll(' ', '\u00a0');
}
