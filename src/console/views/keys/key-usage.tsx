/** Calls of a backend key over time, accepted and refused. */
import { useState } from 'preact/hooks';
import { Chart, useChartPreload } from '../../components/chart.tsx';
import { FailureNote } from '../../components/failure-note.tsx';
import { count } from '../../components/format.ts';
import { DetailPart } from '../../components/list-detail.tsx';
import { Range } from '../../components/range.tsx';
import { useLoaded } from '../../data.ts';
import type { KeyCalls } from './key-calls.ts';

interface KeyUsageProps {
  readonly id: string;
  readonly calls: KeyCalls;
}

export function KeyUsage({ id, calls }: KeyUsageProps) {
  useChartPreload();
  const [days, setDays] = useState(7);
  const used = useLoaded(() => calls.calls(id, days), [id, days]);
  const points = used.data?.points ?? [];
  const [accepted, refused] = [points.map((point) => point.accepted), points.map((point) => point.refused)];
  const sum = (values: readonly number[]) => values.reduce((left, right) => left + right, 0);
  return (
    <DetailPart title="Calls">
      <div class="chart-head">
        <p id="key-calls-total">
          {used.data && (
            <>
              <strong>{count(sum(accepted))}</strong> accepted, <strong>{count(sum(refused))}</strong> refused
            </>
          )}
        </p>
        <Range id="key-calls-range" days={days} onChoose={setDays} />
      </div>
      {used.failure && !used.data && <FailureNote failure={used.failure} onRetry={used.reload} />}
      {used.data ? (
        <Chart
          id="key-calls"
          label="Calls"
          times={points.map(({ at }) => at)}
          isHourly={used.data.unit === 'hour'}
          series={[
            { name: 'Accepted', values: accepted },
            { name: 'Refused', values: refused },
          ]}
        />
      ) : (
        <div class="drawing skeleton" aria-hidden="true" />
      )}
      <p class="fine">
        Counted within seconds, in UTC. Refused are calls answered with an error, and verifications of a token that is
        not valid.
      </p>
    </DetailPart>
  );
}
