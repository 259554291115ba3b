/** The answer to a verification. */
import type { TokenRefusal } from './model.ts';
import type { KeySubject, SessionSubject } from './subject.ts';

export interface AcceptedVerdict {
  readonly ok: true;
  readonly subject: SessionSubject | KeySubject;
}

export type Verdict = AcceptedVerdict | { readonly ok: false; readonly error: TokenRefusal };
