import { useEffect } from 'preact/hooks';
import { useNow } from '../refresh.ts';
import { duration, exactTime } from './format.ts';

interface CountdownProps {
  /** ISO 8601 */
  readonly to: string;
  readonly over?: string;
  readonly onEnd?: () => unknown;
}

export function Countdown({ to, over = 'over', onEnd }: CountdownProps) {
  const end = Date.parse(to);
  const isOver = useNow(end > Date.now()) >= end;
  useEffect(() => {
    if (isOver) onEnd?.();
  }, [isOver]);
  return (
    <time class="countdown" dateTime={to} title={exactTime(to)}>
      {isOver ? over : duration(Math.max(1, (end - Date.now()) / 1000))}
    </time>
  );
}
