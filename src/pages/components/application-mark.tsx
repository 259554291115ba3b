/** Logo of an application, or its first letter while it has none or it fails to load. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { hyphenated } from '../../core/hyphenated.ts';
import { GateMark } from './icon.tsx';

export interface ShownApplication {
  readonly name: string;
  readonly clientId: string;
  readonly logoUrl: string | null;
  /** Shown in dark mode; null where it is the same. */
  readonly logoDarkUrl: string | null;
  readonly iconUrl: string | null;
  readonly accentColor: string | null;
}

/** Addresses from which the image policy lets pages load pictures; plain http only from this host. */
const isLoadable = (url: string | null): url is string =>
  url !== null && /^(?:https:\/\/|data:image\/|\/(?!\/))/i.test(url);

export function ApplicationMark({
  name,
  logoUrl,
  logoDarkUrl,
}: Pick<ShownApplication, 'name' | 'logoUrl' | 'logoDarkUrl'>) {
  const [initial = ''] = name.trim().toUpperCase();
  const [isBroken, setIsBroken] = useState(false);
  const logo = useRef<HTMLImageElement>(null);
  // The image may have failed before the script attached its handler.
  useLayoutEffect(() => {
    if (logo.current?.complete && logo.current.naturalWidth === 0) setIsBroken(true);
  }, []);
  if (isLoadable(logoUrl) && !isBroken) {
    const picture = <img class="logo" id="logo" ref={logo} src={logoUrl} alt="" onError={() => setIsBroken(true)} />;
    if (!isLoadable(logoDarkUrl)) return picture;
    return (
      <picture>
        <source media="(prefers-color-scheme: dark)" srcset={logoDarkUrl} />
        {picture}
      </picture>
    );
  }
  return (
    <span class="tile" aria-hidden="true">
      {initial}
    </span>
  );
}

/** Logo of an application on a step of its own pages; without one, its letter and its name. */
export function ApplicationBrand(application: Pick<ShownApplication, 'name' | 'logoUrl' | 'logoDarkUrl'>) {
  return (
    <>
      <ApplicationMark {...application} />
      <span class="brand-name beside-letter" dir="auto">
        {hyphenated(application.name)}
      </span>
    </>
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
