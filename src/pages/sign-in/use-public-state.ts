/** Follows whether an application takes people: asked for every six seconds as long as the page is looked at. */
import { useEffect, useState } from 'preact/hooks';
import { read } from '../browser/api.ts';

/** What anybody may know of an application. */
export interface PublicState {
  readonly stage: 'draft' | 'test' | 'live';
  readonly signinGate: 'public' | 'private_beta' | 'closed';
  readonly betaRequestPolicy: 'manual' | 'auto_accept' | 'auto_decline';
  readonly archivedAt: string | null;
  readonly deletedAt: string | null;
}

const EVERY_MS = 6_000;

/** @returns null until it is known; what was known last while the server cannot be reached. */
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
