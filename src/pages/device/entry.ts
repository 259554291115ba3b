/** Browser entry point of the device confirmation page. */
import { takeUp } from '../browser/take-up.tsx';
import { ConnectPage } from './page.tsx';

takeUp(ConnectPage);
