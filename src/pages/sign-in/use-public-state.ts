/** Follows whether an application accepts sign-ins, while the page is open. */
import { useEffect, useState } from 'preact/hooks';
import { read } from '../browser/api.ts';
import { poll } from '../browser/polling.ts';
import type { PublicState, SignInApplication } from './offer.ts';
import type { Refusal } from './refusal.ts';

export interface FollowedState {
  /** The last known state; null for the console, which has none. */
  readonly state: PublicState | null;
  /** Takes a refusal's word, which is newer than the state, until the next answer. */
  noteRefusal(reason: Refusal): void;
}

export function usePublicState({ id, state: initial }: SignInApplication): FollowedState {
  const [state, setState] = useState(initial);
  useEffect(() => {
    if (initial === null) return;
    return poll(async () => {
      const outcome = await read<PublicState>(`/api/applications/${id}/public/state`);
      if (outcome.ok) setState(outcome.data);
      return outcome.ok ? 'answered' : 'failed';
    });
  }, [id]);
  return {
    state,
    noteRefusal: (reason) => setState((known) => known && { ...known, ...impliedBy(reason, known) }),
  };
}

function impliedBy(reason: Refusal, state: PublicState): Partial<PublicState> {
  if (reason === 'application_archived') return { archivedAt: new Date().toISOString() };
  if (reason === 'waitlist') return { signinGate: 'private_beta' };
  return reason === 'gate_closed' && isOpenToAll(state) ? { signinGate: 'closed' } : {};
}

/** New people can sign in. */
export function isOpenToAll(state: PublicState | null): boolean {
  return state !== null && state.stage !== 'draft' && state.signinGate === 'public';
}

/** Archived or deleted: nobody can sign in, whatever the gate. */
export function isOutOfService(state: PublicState | null): boolean {
  return state !== null && (state.archivedAt !== null || state.deletedAt !== null);
}
