/** Short notification that screen readers announce and that disappears after some seconds. */
import { type ComponentChildren, createContext } from 'preact';
import { useContext, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

interface Message {
  readonly text: string;
  readonly tone: 'good' | 'bad';
}

type Say = (text: string, tone?: Message['tone']) => void;

const SHOWN_MS = 6_000;

const Toasts = createContext<Say>(() => {});

export const useToast = () => useContext(Toasts);

export function ToastProvider({ children }: { children: ComponentChildren }) {
  const [message, setMessage] = useState<Message | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const say = useMemo<Say>(
    () =>
      (text, tone = 'good') => {
        clearTimeout(timer.current);
        setMessage({ text, tone });
        timer.current = setTimeout(() => setMessage(null), SHOWN_MS);
      },
    [],
  );
  const element = useRef<HTMLDivElement>(null);
  // Reopened to be last in the top layer, above dialogs.
  useLayoutEffect(() => {
    element.current?.hidePopover();
    if (message) element.current?.showPopover();
  }, [message]);
  return (
    <Toasts.Provider value={say}>
      {children}
      <div ref={element} class="toast" id="toast" role="status" popover="manual" data-tone={message?.tone}>
        {message?.text}
      </div>
    </Toasts.Provider>
  );
}
