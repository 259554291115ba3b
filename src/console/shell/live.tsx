/** What happens in the open application while it is looked at: one stream for all views, by server-sent events. */
import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import type { Schemas } from '../api.ts';

type AuthEvent = Schemas['AuthEvent'];
type Listener = (event: AuthEvent) => void;

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

/** The browser opens a stream that breaks again by itself. */
export function LiveProvider({ applicationId, children }: LiveProviderProps) {
  const listeners = useRef(new Set<Listener>());
  const [unseen, setUnseen] = useState(0);
  const [isConnected, setIsConnected] = useState(false);

  useEffect(() => {
    setUnseen(0);
    if (applicationId === null) return;
    const stream = new EventSource(`/api/applications/${encodeURIComponent(applicationId)}/activity/events`);
    stream.addEventListener('open', () => setIsConnected(true));
    stream.addEventListener('error', () => setIsConnected(false));
    stream.addEventListener('activity', ({ data }: MessageEvent<string>) => {
      const event = JSON.parse(data) as AuthEvent;
      setUnseen((count) => count + 1);
      for (const listener of listeners.current) listener(event);
    });
    return () => {
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

/** Tells of each record as it is made, for as long as the view is shown. */
export function useLiveEvents(onEvent: Listener): void {
  const { listen } = useLive();
  const latest = useRef(onEvent);
  latest.current = onEvent;
  useEffect(() => listen((event) => latest.current(event)), []);
}
