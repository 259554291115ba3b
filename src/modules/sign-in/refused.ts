/** Why somebody who has proved who they are may not come in, as the API says it. */
import { AppError } from '../../core/error.ts';
import type { Application } from '../../store/applications.ts';
import type { SignInRefusal } from './complete.ts';

/** A draft's names the calls that open it: who meets it is most often who made it. */
export function signInRefused(refusal: SignInRefusal, { id, stage }: Pick<Application, 'id' | 'stage'>): AppError {
  return refusal === 'gate_closed' && stage === 'draft'
    ? new AppError(refusal, { hint: 'application_draft', values: { application: id } })
    : new AppError(refusal);
}
