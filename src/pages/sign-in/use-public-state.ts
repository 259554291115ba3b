/** Polls whether an application accepts sign-ins, every six seconds while the page is visible. */
import { useEffect, useState } from 'preact/hooks';
import { read } from '../browser/api.ts';

export interface PublicState {
  readonly stage: 'draft' | 'test' | 'live';
  readonly signinGate: 'public' | 'private_beta' | 'closed';
  readonly betaRequestPolicy: 'manual' | 'auto_accept' | 'auto_decline';
  readonly archivedAt: string | null;
  readonly deletedAt: string | null;
}

const EVERY_MS = 6_000;

/** @returns null until known; the last known state while the server is unreachable. */
export function usePublicState(applicationId: string, isFollowed: boolean): PublicState | null {
  const [state, setState] = useState<PublicState | null>(null);
  useEffect(() => {
    if (!isFollowed) return;
    async function ask(): Promise<void> {
      if (document.hidden) return;
      const outcome = await read<PublicState>(`/api/applications/${applicationId}/public/state`);
      if (outcome.ok) setState(outcome.data);
    }
    void ask();
    const timer = setInterval(() => void ask(), EVERY_MS);
    const onVisible = () => void ask();
    document.addEventListener('visibilitychange', onVisible);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', onVisible);
    };
  }, [applicationId, isFollowed]);
  return state;
}
