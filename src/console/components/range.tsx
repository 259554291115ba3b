/** Range of a chart over the last hours or days. */
import { Select } from '../../pages/components/select-field.tsx';

const RANGES = [
  { value: '1', label: 'Last 24 hours' },
  { value: '7', label: 'Last 7 days' },
  { value: '30', label: 'Last 30 days' },
];

interface RangeProps {
  readonly id: string;
  readonly days: number;
  readonly onChoose: (days: number) => void;
}

export function Range({ id, days, onChoose }: RangeProps) {
  return (
    <Select
      id={id}
      label="Time range"
      isSmall
      value={String(days)}
      choices={RANGES}
      onChoose={(value) => onChoose(Number(value))}
    />
  );
}
