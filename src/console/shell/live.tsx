/** What happens in the open application while it is looked at: one stream for all views, by server-sent events. */
import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import type { Schemas } from '../api.ts';

type AuthEvent = Schemas['AuthEvent'];
type Listener = (event: AuthEvent) => void;

const AGAIN_MS = 10_000;

interface Live {
  /** How many records came since the activity was last looked at. */
  readonly unseen: number;
  readonly isConnected: boolean;
  listen(listener: Listener): () => void;
  see(): void;
}

const LiveContext = createContext<Live>({ unseen: 0, isConnected: false, listen: () => () => {}, see() {} });

interface LiveProviderProps {
  readonly applicationId: string | null;
  readonly children: ComponentChildren;
}

/** A stream that breaks is opened again by the browser, but not where it was refused, as by a proxy while the server starts. */
export function LiveProvider({ applicationId, children }: LiveProviderProps) {
  const listeners = useRef(new Set<Listener>());
  const [unseen, setUnseen] = useState(0);
  const [isConnected, setIsConnected] = useState(false);

  useEffect(() => {
    setUnseen(0);
    if (applicationId === null) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let stream = connect(applicationId);
    function connect(id: string): EventSource {
      const opened = new EventSource(`/api/applications/${encodeURIComponent(id)}/activity/events`);
      opened.addEventListener('open', () => setIsConnected(true));
      opened.addEventListener('error', () => {
        setIsConnected(false);
        if (opened.readyState === EventSource.CLOSED) timer = setTimeout(() => (stream = connect(id)), AGAIN_MS);
      });
      opened.addEventListener('activity', ({ data }: MessageEvent<string>) => {
        const event = JSON.parse(data) as AuthEvent;
        setUnseen((count) => count + 1);
        for (const listener of listeners.current) listener(event);
      });
      return opened;
    }
    return () => {
      clearTimeout(timer);
      stream.close();
      setIsConnected(false);
    };
  }, [applicationId]);

  const live: Live = {
    unseen,
    isConnected,
    listen(listener) {
      listeners.current.add(listener);
      return () => void listeners.current.delete(listener);
    },
    see: () => setUnseen(0),
  };
  return <LiveContext.Provider value={live}>{children}</LiveContext.Provider>;
}

export const useLive = () => useContext(LiveContext);

/** Tells of records as they are made, oldest first: of all that come within so long at once, as many come together. */
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
        const come = waiting;
        waiting = [];
        timer = undefined;
        void latest.current(come);
      }, withinMs);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [withinMs]);
}
