/** The page behind a device's code, in the browser. */
import { takeUp } from '../browser/take-up.tsx';
import { ConnectPage } from './page.tsx';

takeUp(ConnectPage);
