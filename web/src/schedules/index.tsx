import { Page } from '../parts/Page';
import { Empty } from '../parts/States';

// Everything below /schedules.
export default function Schedules() {
  return (
    <Page title="Schedules">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
