/** The shown part of the account, with its address in the history. */
import { type RefObject } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { scrollMemory } from '../browser/scroll-memory.ts';
import { type AccountPart, isAccountPart } from './parts.ts';

interface ShownPart {
  readonly part: AccountPart;
  /** Heading of the part; focused whenever a part is shown, so that keyboards and screen readers start there. */
  readonly heading: RefObject<HTMLHeadingElement | null>;
  /** Shows a part from its top. Going back shows the earlier part where it was left. */
  open(part: AccountPart): void;
}

export function usePart(first: AccountPart): ShownPart {
  const [shown, setShown] = useState({ part: first });
  const heading = useRef<HTMLHeadingElement>(null);
  const scroll = useMemo(scrollMemory, []);
  useEffect(() => {
    const stop = scroll.start();
    const follow = () => setShown({ part: partOf(location.pathname) });
    addEventListener('popstate', follow);
    return () => {
      stop();
      removeEventListener('popstate', follow);
    };
  }, []);
  useLayoutEffect(() => {
    heading.current?.focus({ preventScroll: true });
    scroll.restore();
  }, [shown]);

  return {
    part: shown.part,
    heading,
    open(part) {
      if (addressOf(part) !== location.pathname + location.search) scroll.push(addressOf(part));
      setShown({ part });
    },
  };
}

/** Returns the address of a part, with the same application and language. */
export function addressOf(part: AccountPart): string {
  const query = typeof location === 'undefined' ? '' : location.search;
  return `/account/${part}${query}`;
}

function partOf(path: string): AccountPart {
  const name = path.split('/')[2] ?? '';
  return isAccountPart(name) ? name : 'profile';
}
