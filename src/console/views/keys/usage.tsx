/** Usage of a limit as a bar with numbers. */
import { count } from '../../components/format.ts';

interface UsageProps {
  /** Accessible name: "Calls today". */
  readonly label: string;
  readonly used: number;
  readonly limit: number;
}

const NEAR = 0.8;

export function Usage({ label, used, limit }: UsageProps) {
  const tone = used >= limit ? 'bad' : used >= limit * NEAR ? 'warn' : undefined;
  return (
    <span class="usage">
      <progress aria-label={label} value={Math.min(used, limit)} max={limit} data-tone={tone} />
      <span>
        {count(used)} <span class="muted">/ {count(limit)}</span>
      </span>
    </span>
  );
}
