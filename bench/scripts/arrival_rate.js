// A constant arrival rate with as many virtual users as VUS says; what a user of k6 writes for an open load.
import http from 'k6/http';
import { Rate } from 'k6/metrics';

const slow = new Rate('slow');

export const options = {
  discardResponseBodies: true,
  summaryTrendStats: ['p(50)', 'p(90)', 'p(95)', 'p(99)'],
  scenarios: {
    open: {
      executor: 'constant-arrival-rate',
      rate: Number(__ENV.RATE),
      timeUnit: '1s',
      duration: __ENV.SECONDS + 's',
      preAllocatedVUs: Number(__ENV.VUS),
      maxVUs: Number(__ENV.VUS),
    },
  },
};

export default function () {
  slow.add(http.get(__ENV.TARGET).timings.duration > Number(__ENV.SLOW_MS));
}

export function handleSummary(summary) {
  return { 'summary.json': JSON.stringify(summary.metrics) };
}
