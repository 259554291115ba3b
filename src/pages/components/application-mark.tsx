/** Logo of an application, or its first letter while it has none or it fails to load. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { GateMark } from './icon.tsx';

export interface ShownApplication {
  readonly name: string;
  readonly clientId: string;
  readonly logoUrl: string | null;
  readonly accentColor: string | null;
}

export function ApplicationMark({ name, logoUrl }: Pick<ShownApplication, 'name' | 'logoUrl'>) {
  const [initial = ''] = name.trim().toUpperCase();
  const [isBroken, setIsBroken] = useState(false);
  const logo = useRef<HTMLImageElement>(null);
  // The image may have failed before the script attached its handler.
  useLayoutEffect(() => {
    if (logo.current?.complete && logo.current.naturalWidth === 0) setIsBroken(true);
  }, []);
  const canShow = logoUrl !== null && /^(?:https:\/\/|data:image\/|\/(?!\/))/i.test(logoUrl);
  if (canShow && !isBroken)
    return <img class="logo" id="logo" ref={logo} src={logoUrl} alt="" onError={() => setIsBroken(true)} />;
  return (
    <span class="tile" aria-hidden="true">
      {initial}
    </span>
  );
}

/** Gatehouse's own mark, for pages without an application. */
export function ProductMark() {
  return (
    <span class="tile">
      <GateMark />
    </span>
  );
}
