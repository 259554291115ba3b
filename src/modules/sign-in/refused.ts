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

/** What stands beside the code where a refusal is an address: whoever tries a draft of their own reads which calls open it. */
export function wayOpen(refusal: string, application: Pick<Application, 'id' | 'stage'>): Record<string, string> {
  const isDraft = refusal === 'gate_closed' && application.stage === 'draft';
  return isDraft ? { error_description: signInRefused(refusal, application).message } : {};
}
