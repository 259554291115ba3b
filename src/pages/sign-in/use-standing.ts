/** Follows a request for access with the ticket of a proved address, and keeps it in this browser. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { WaitlistStanding } from '../../core/waitlist-standing.ts';
import { type Outcome, post } from '../browser/api.ts';
import { type AccessRequest, forgetRequest, rememberRequest } from '../browser/access-request.ts';
import { poll } from '../browser/polling.ts';
import type { SignInApplication } from './offer.ts';

export interface Standing {
  /** The last known one; null without a request. */
  readonly request: AccessRequest | null;
  /** Notes a request that this page made. */
  record(request: AccessRequest): void;
}

/** @param isFresh the standing was read just now. */
export function useStanding(
  { id, clientId }: Pick<SignInApplication, 'id' | 'clientId'>,
  initial: AccessRequest | null,
  isFresh: boolean,
): Standing {
  const [request, setRequest] = useState(initial);
  const latest = useRef(request);
  latest.current = request;

  function keep(next: AccessRequest): void {
    latest.current = next;
    if (next.status === 'none') forgetRequest(clientId);
    else rememberRequest(clientId, next);
    setRequest(next);
  }

  async function ask() {
    const known = latest.current;
    if (!known || known.ticket === null) return 'over';
    const outcome = await readStanding(id, known.email, known.ticket);
    if (outcome.ok) keep({ ...known, ...outcome.data });
    else if (outcome.code === 'code_expired') keep({ ...known, ticket: null });
    return outcome.ok ? 'answered' : 'failed';
  }

  useEffect(() => {
    if (!initial) return;
    if (isFresh) keep(initial);
    return initial.ticket === null ? undefined : poll(ask, !isFresh);
  }, []);

  return {
    request,
    record(made) {
      keep(made);
      if (made.ticket !== null) void ask();
    },
  };
}

export function readStanding(applicationId: string, email: string, ticket: string): Promise<Outcome<WaitlistStanding>> {
  return post(`/api/applications/${applicationId}/public/access-state`, { email, ticket });
}
