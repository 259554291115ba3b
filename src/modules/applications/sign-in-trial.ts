/**
 * Links for trying an application: the sign-in page shows the session token at its end. Only managers can create one,
 * and they could register a return URL that receives the tokens anyway.
 */
import { type Clock, isoTime } from '../../core/clock.ts';
import { expiringTickets } from '../../core/expiring-ticket.ts';
import type { InstanceKey } from '../../core/instance-key.ts';
import { TRIAL_LIFETIME_MS } from '../../core/sign-in-trial.ts';
import type { Application } from '../../store/applications.ts';

interface TrialDependencies {
  readonly instanceKey: InstanceKey;
  readonly clock: Clock;
  readonly baseUrl: () => string;
}

type Tried = Pick<Application, 'id' | 'clientId'>;

export type SignInTrials = ReturnType<typeof signInTrials>;

/** Each ticket is bound to one application. */
export function signInTrials({ instanceKey, clock, baseUrl }: TrialDependencies) {
  const tickets = expiringTickets(instanceKey, 'sign-in trial');
  return {
    link(application: Tried): { url: string; expiresAt: string } {
      const expiresAt = clock.now() + TRIAL_LIFETIME_MS;
      const trial = tickets.issue(application.id, expiresAt);
      const query = new URLSearchParams({ clientId: application.clientId, trial });
      return { url: `${baseUrl()}/sign-in?${query}`, expiresAt: isoTime(expiresAt) };
    },

    isValid(application: Tried, ticket: string | null): boolean {
      return tickets.isValid(application.id, ticket, clock.now());
    },
  };
}
