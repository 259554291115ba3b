/** The logo of an application, a wide one too, with its first letter in its place for as long as there is none or it does not load. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { GateMark } from './icon.tsx';

/** What a page shows of an application. */
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
  // It may have failed before the script was there to hear of it.
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

/** The product's own, on pages of no application. */
export function ProductMark() {
  return (
    <span class="tile">
      <GateMark />
    </span>
  );
}
