/** Choosing among the browser's accounts before a sign-in; Back leads from the sign-in to the choice. */
import { useLayoutEffect } from 'preact/hooks';
import { savePending } from '../browser/pending.ts';

interface Choosing {
  /** A sign-in is shown, and there are accounts to go back to. */
  readonly isLeft: boolean;
  choose(): void;
  signIn(failure: string | null): void;
}

/** @returns the step from the choice to the sign-in. @param clientId whose code is forgotten when going back. */
export function useChoosing(clientId: string, { isLeft, choose, signIn }: Choosing) {
  useLayoutEffect(() => {
    if (!isLeft) return;
    const follow = ({ state }: PopStateEvent) => {
      if (isOfStep(state)) return;
      savePending(clientId, null);
      choose();
    };
    addEventListener('popstate', follow);
    return () => removeEventListener('popstate', follow);
  }, [isLeft]);
  /** @param failure error code to show at the sign-in. */
  return (failure: string | null = null): void => {
    // A reload keeps the state of an earlier code in this entry.
    if (isOfStep(history.state)) history.replaceState(null, '');
    history.pushState({ step: 'methods' }, '');
    signIn(failure);
  };
}

const isOfStep = (state: unknown) => (state as { step?: string } | null)?.step !== undefined;
