/** Cookie by which a browser hints that it will continue at a later step than the first, such as a mailed code. */
const NAME = 'gatehouse.step';

/** Returns whether to hide the first step until the script has run. Anybody can set it: it decides nothing else. */
export function hasStepHint({ headers }: Request): boolean {
  return headers.get('cookie')?.includes(`${NAME}=`) ?? false;
}

/** Returns the value to assign to `document.cookie`. @param seconds 0 deletes the hint. */
export function stepHint(seconds: number): string {
  return `${NAME}=1; Path=/; Max-Age=${Math.max(0, Math.ceil(seconds))}; SameSite=Lax`;
}
