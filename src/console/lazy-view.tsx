/** A view whose script is fetched when it is first shown. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** When the page was last loaded anew for a script, in this tab. */
const RELOADED = 'gatehouse.console.reloaded';
/** A script that is missing again so soon is not missing because of an upgrade. */
const AGAIN_MS = 30_000;

/** After an upgrade the server's scripts have other names, and the page is loaded anew. */
export function lazyView<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let known: ComponentType<Props> | null = null;
  return (props: Props) => {
    const [View, setView] = useState<ComponentType<Props> | null>(() => known);
    const [isMissing, setIsMissing] = useState(false);
    useEffect(() => {
      if (View) return;
      load().then(
        (loaded) => {
          known = loaded;
          setView(() => loaded);
        },
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
}

/** @returns whether it is done. */
function reloadOnce(): boolean {
  if (Date.now() - Number(sessionStorage.getItem(RELOADED)) < AGAIN_MS) return false;
  sessionStorage.setItem(RELOADED, String(Date.now()));
  location.reload();
  return true;
}
