import { stepHint } from '../step-hint.ts';

/** Hints to the server that the next page continues at a later step. Never throws. @param seconds 0 ends the hint. */
export function expectLaterStep(seconds: number): void {
  try {
    document.cookie = stepHint(seconds);
  } catch {
    // Cookies are disabled: the first step shows for a moment.
  }
}
