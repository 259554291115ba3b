/** A view whose script is fetched when it is first shown. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** Also what the server must still have: after an upgrade its scripts have other names, and the page is loaded anew. */
export function lazyView<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let known: ComponentType<Props> | null = null;
  return (props: Props) => {
    const [View, setView] = useState<ComponentType<Props> | null>(() => known);
    useEffect(() => {
      if (View) return;
      load().then(
        (loaded) => {
          known = loaded;
          setView(() => loaded);
        },
        () => location.reload(),
      );
    }, []);
    return View ? <View {...props} /> : <div class="skeleton title" aria-busy="true" />;
  };
}
