import { count } from './format.ts';

interface ProgressProps {
  readonly label: string;
  readonly done: number;
  readonly total: number | null;
}

export function Progress({ label, done, total }: ProgressProps) {
  return (
    <div class="progress" role="status">
      <span>{label}</span>
      <progress aria-label={label} {...(total !== null && { value: done, max: Math.max(total, 1) })} />
      <span class="fine">{total === null ? count(done) : `${count(done)} / ${count(total)}`}</span>
    </div>
  );
}
