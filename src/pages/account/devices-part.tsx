import { useState } from 'preact/hooks';
import { ConnectedSection } from './connected-section.tsx';
import { SessionsSection } from './sessions-section.tsx';

export function DevicesPart() {
  const [version, setVersion] = useState(0);
  return (
    <>
      <SessionsSection onDevicesEnded={() => setVersion((before) => before + 1)} />
      <ConnectedSection key={version} />
    </>
  );
}
