/** Loads a view's script when it is first shown. */
import type { FunctionComponent } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';

/** Storage key for the time of the last reload in this tab. */
const RELOADED = 'gatehouse.console.reloaded';
/** A script missing again this soon is not caused by an upgrade, so the page is not reloaded. */
const AGAIN_MS = 30_000;

export type LazyView<Props extends object> = FunctionComponent<Props> & {
  /** Loads the script before the view is shown. */
  readonly preload: () => void;
};

/** Reloads the page if a script is missing: an upgrade renames the scripts. */
export function lazyView<Props extends object>(load: () => Promise<FunctionComponent<Props>>): LazyView<Props> {
  let known: FunctionComponent<Props> | null = null;
  const loadOnce = async () => (known ??= await load());
  const view = (props: Props) => {
    const [View, setView] = useState<FunctionComponent<Props> | null>(() => known);
    const [isMissing, setIsMissing] = useState(false);
    useLayoutEffect(() => {
      if (View) return;
      loadOnce().then(
        (loaded) => setView(() => loaded),
        () => (reloadOnce() ? undefined : setIsMissing(true)),
      );
    }, []);
    if (View) return <View {...props} />;
    if (isMissing)
      return (
        <p class="failure" role="alert">
          This view did not load. Check the connection, then load the page again.
        </p>
      );
    return <div class="skeleton title" aria-busy="true" />;
  };
  // A failure shows when the view is opened.
  return Object.assign(view, { preload: () => void loadOnce().catch(() => {}) });
}

function reloadOnce(): boolean {
  if (Date.now() - Number(sessionStorage.getItem(RELOADED)) < AGAIN_MS) return false;
  sessionStorage.setItem(RELOADED, String(Date.now()));
  location.reload();
  return true;
}
