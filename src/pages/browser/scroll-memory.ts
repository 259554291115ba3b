/**
 * Scroll positions of history entries. The page restores them itself, because the browser restores too early: before
 * lists have loaded, and the page is tall enough.
 */

/** Longer than the gaps between scroll events; browsers limit how often an entry may be changed. */
const PAUSE_MS = 300;

/** Input by which a reader scrolls. It ends restoring, which would pull the page back. */
const OWN_SCROLLING = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const;

export interface ScrollMemory {
  /** Begins to store positions. @returns a function that stops, and gives restoring back to the browser. */
  start(): () => void;
  /** Adds an entry, which is shown from its top. */
  push(address: string): void;
  /** Scrolls to the entry's position: at once, or as soon as the page is tall enough. */
  restore(): void;
}

export function scrollMemory(): ScrollMemory {
  /** Position to be reached; null once it was. */
  let wanted: number | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function store(): void {
    clearTimeout(timer);
    history.replaceState({ top: scrollY }, '');
  }

  function scrolled(): void {
    clearTimeout(timer);
    if (wanted === null) timer = setTimeout(store, PAUSE_MS);
  }

  function approach(): void {
    if (wanted === null) return;
    scrollTo(0, wanted);
    if (scrollY >= wanted - 1) wanted = null;
  }

  const giveUp = () => (wanted = null);
  // The position belongs to the entry that was just left.
  const left = () => clearTimeout(timer);

  return {
    start() {
      const sizes = new ResizeObserver(approach);
      sizes.observe(document.body);
      history.scrollRestoration = 'manual';
      addEventListener('scroll', scrolled, { passive: true });
      addEventListener('popstate', left);
      for (const type of OWN_SCROLLING) addEventListener(type, giveUp, { passive: true });
      return () => {
        clearTimeout(timer);
        sizes.disconnect();
        history.scrollRestoration = 'auto';
        removeEventListener('scroll', scrolled);
        removeEventListener('popstate', left);
        for (const type of OWN_SCROLLING) removeEventListener(type, giveUp);
      };
    },
    push(address) {
      store();
      history.pushState(null, '', address);
    },
    restore() {
      wanted = topOf(history.state);
      approach();
    },
  };
}

function topOf(state: unknown): number {
  const top = typeof state === 'object' && state !== null && 'top' in state ? state.top : 0;
  return typeof top === 'number' ? top : 0;
}
