/** Where the reader is signed in: sessions in browsers, and devices with a key of their own. */
import { ConnectedSection } from './connected-section.tsx';
import { SessionsSection } from './sessions-section.tsx';

export function DevicesPart() {
  return (
    <>
      <SessionsSection />
      <ConnectedSection />
    </>
  );
}
