/** IP address of a session or device, shown on demand, because few readers can interpret it. */
import { useTexts } from '../components/texts.tsx';

export function IpAddress({ of: ip }: { of: string | null }) {
  const text = useTexts();
  if (ip === null) return null;
  return (
    <details class="ip-address">
      <summary>{text('account.ipAddress')}</summary>
      <span translate={false}>{ip}</span>
    </details>
  );
}
