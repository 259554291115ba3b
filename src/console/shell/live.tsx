/** Streams activity to the views inside by server-sent events, over one connection. */
import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { recentSet } from '../../core/recent-set.ts';
import type { Schemas } from '../api.ts';

type AuthEvent = Schemas['AuthEvent'];
type Listener = (event: AuthEvent) => void;

const AGAIN_MS = 10_000;

/** Ids remembered, so that a record counts once. */
const REPEATED = 1000;

interface Live {
  /** Records received since the activity was last viewed. */
  readonly unseen: number;
  readonly isConnected: boolean;
  /** Counts the breaks after which records may be missing. */
  readonly breaks: number;
  listen(listener: Listener): () => void;
  see(): void;
}

const LiveContext = createContext<Live>({ unseen: 0, isConnected: false, breaks: 0, listen: () => () => {}, see() {} });

interface LiveProviderProps {
  /** Path of the stream; null for none. */
  readonly path: string | null;
  readonly children: ComponentChildren;
}

/** Browsers resume a broken stream, but not a refused one, such as by a proxy during a server start; we reopen it. */
export function LiveProvider({ path, children }: LiveProviderProps) {
  const listeners = useRef(new Set<Listener>());
  const [unseen, setUnseen] = useState(0);
  const [isConnected, setIsConnected] = useState(false);
  const [breaks, setBreaks] = useState(0);
  const noteBreak = () => setBreaks((count) => count + 1);

  useEffect(() => {
    setUnseen(0);
    if (path === null) return;
    const seen = recentSet<string>(REPEATED);
    let timer: ReturnType<typeof setTimeout> | undefined;
    let stream = connect(path);
    function connect(from: string): EventSource {
      const opened = new EventSource(from);
      opened.addEventListener('open', () => setIsConnected(true));
      opened.addEventListener('error', () => {
        setIsConnected(false);
        if (opened.readyState === EventSource.CLOSED) timer = setTimeout(() => connectAgain(from), AGAIN_MS);
      });
      opened.addEventListener('reload', noteBreak);
      opened.addEventListener('activity', ({ data }: MessageEvent<string>) => {
        const event = JSON.parse(data) as AuthEvent;
        // A stream that is resumed may repeat records.
        if (!seen.add(event.id)) return;
        setUnseen((count) => count + 1);
        for (const listener of listeners.current) listener(event);
      });
      return opened;
    }
    function connectAgain(from: string): void {
      stream = connect(from);
      stream.addEventListener('open', noteBreak, { once: true });
    }
    return () => {
      clearTimeout(timer);
      stream.close();
      setIsConnected(false);
    };
  }, [path]);

  const live: Live = {
    unseen,
    isConnected,
    breaks,
    listen(listener) {
      listeners.current.add(listener);
      return () => void listeners.current.delete(listener);
    },
    see: () => setUnseen(0),
  };
  return <LiveContext.Provider value={live}>{children}</LiveContext.Provider>;
}

export const useLive = () => useContext(LiveContext);

/** Passes new records to the callback, oldest first, in batches collected over `withinMs`. */
export function useLiveEvents(withinMs: number, onEvents: (events: readonly AuthEvent[]) => unknown): void {
  const { listen } = useLive();
  const latest = useRef(onEvents);
  latest.current = onEvents;
  useEffect(() => {
    let waiting: AuthEvent[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = listen((event) => {
      waiting.push(event);
      timer ??= setTimeout(() => {
        const received = waiting;
        waiting = [];
        timer = undefined;
        void latest.current(received);
      }, withinMs);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [withinMs]);
}
