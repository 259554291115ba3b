import { AppError } from '../../core/error.ts';
import type { TicketedStanding } from '../../core/waitlist-standing.ts';
import type { Application } from '../../store/applications.ts';
import type { SignInRefusal } from './complete.ts';

/** Names the calls that publish a draft: people who meet this refusal have mostly made the draft themselves. */
export function signInRefused(
  refusal: SignInRefusal,
  { id, stage }: Pick<Application, 'id' | 'stage'>,
  interest?: TicketedStanding,
): AppError {
  return refusal === 'gate_closed' && stage === 'draft'
    ? new AppError(refusal, { hint: 'application_draft', values: { application: id }, ...(interest && { interest }) })
    : new AppError(refusal, interest && { interest });
}

/** Returns whether a refused person may wait for access. The console has no waitlist. */
export function mayWait(refusal: SignInRefusal, { workspaceId }: Pick<Application, 'workspaceId'>): boolean {
  return workspaceId !== null && (refusal === 'waitlist' || refusal === 'gate_closed');
}

/** Returns redirect parameters: for a draft, a description that names the calls which open it. */
export function draftErrorDescription(
  refusal: string,
  application: Pick<Application, 'id' | 'stage'>,
): Record<string, string> {
  const isDraft = refusal === 'gate_closed' && application.stage === 'draft';
  return isDraft ? { error_description: signInRefused(refusal, application).message } : {};
}
