/** Asks before what was changed and not saved is lost: by the browser's own question, for every way to leave. */
import { useEffect, useLayoutEffect } from 'preact/hooks';

const QUESTION = 'Leave without saving? What you changed here is lost.';

/** The forms of the page that hold something. */
const unsaved = new Set<object>();

export function useUnsaved(isUnsaved: boolean): void {
  useLayoutEffect(() => {
    if (!isUnsaved) return;
    const form = {};
    unsaved.add(form);
    return () => void unsaved.delete(form);
  }, [isUnsaved]);
}

/** Once for all forms of a page. A document that is left asks by itself; between views, also back and forward, we do. */
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
    // Browsers that do not tell of it beforehand ask only where the document is left.
    const { navigation } = window as { readonly navigation?: Navigation };
    addEventListener('beforeunload', onUnload);
    navigation?.addEventListener('navigate', onNavigate);
    return () => {
      removeEventListener('beforeunload', onUnload);
      navigation?.removeEventListener('navigate', onNavigate);
    };
  }, []);
}
