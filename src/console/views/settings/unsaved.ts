/** Asks before unsaved changes are lost, for every way of leaving a view. */
import { useEffect, useLayoutEffect } from 'preact/hooks';

const QUESTION = 'Leave without saving? Your changes will be lost.';

const unsaved = new Set<object>();

export function useUnsaved(isUnsaved: boolean): void {
  useLayoutEffect(() => {
    if (!isUnsaved) return;
    const form = {};
    unsaved.add(form);
    return () => void unsaved.delete(form);
  }, [isUnsaved]);
}

/** One handler for all forms: `beforeunload` covers leaving the document, `navigate` changing views. */
export function useLeaveWarning(): void {
  useEffect(() => {
    const onUnload = (event: BeforeUnloadEvent) => {
      if (unsaved.size > 0) event.preventDefault();
    };
    const onNavigate = (event: NavigateEvent) => {
      const { sameDocument, url } = event.destination;
      if (unsaved.size === 0 || !event.cancelable || !sameDocument) return;
      if (new URL(url).pathname === location.pathname) return;
      if (!confirm(QUESTION)) event.preventDefault();
    };
    // Browsers without the Navigation API ask only when the document is left.
    const { navigation } = window as { readonly navigation?: Navigation };
    addEventListener('beforeunload', onUnload);
    navigation?.addEventListener('navigate', onNavigate);
    return () => {
      removeEventListener('beforeunload', onUnload);
      navigation?.removeEventListener('navigate', onNavigate);
    };
  }, []);
}
