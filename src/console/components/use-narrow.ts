import { useEffect, useState } from 'preact/hooks';

/** Returns whether the window is at most this wide, in pixels. */
export function useNarrow(widthPx: number): boolean {
  const query = `(max-width: ${widthPx}px)`;
  const [isNarrow, setIsNarrow] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const change = () => setIsNarrow(media.matches);
    change();
    media.addEventListener('change', change);
    return () => media.removeEventListener('change', change);
  }, [query]);
  return isNarrow;
}
