//! Metric families of one response.

use ledger_metrics::Histogram;
use prometheus::{
    TextEncoder,
    proto::{self, Bucket, Counter, Gauge, LabelPair, Metric, MetricFamily, MetricType},
};

/// Name and help text of a family.
pub type Title = (&'static str, &'static str);

/// Label names with their values.
pub type Labels<'a> = &'a [(&'static str, &'a str)];

/// A family with one sample per item, such as a mailbox: its title, and the function that returns
/// the value of an item.
pub type Row<T> = (Title, fn(&T) -> f64);

/// Unit of the values in a histogram.
#[derive(Clone, Copy, Debug)]
pub enum Unit {
    /// Durations: bounds in microseconds and the sum in nanoseconds become seconds.
    Time,
    /// Plain numbers, which are not scaled.
    Count,
}

impl Unit {
    fn bound(self, bound: u64) -> f64 {
        match self {
            Self::Time => bound as f64 / 1e6,
            Self::Count => bound as f64,
        }
    }

    fn sum(self, sum: u64) -> f64 {
        match self {
            Self::Time => sum as f64 / 1e9,
            Self::Count => sum as f64,
        }
    }
}

/// Metric families, in the order of the response.
#[derive(Debug, Default)]
pub struct Families(Vec<MetricFamily>);

/// A family to which samples are appended. The response omits a family without samples, as the
/// format requires.
#[derive(Debug)]
pub struct Family<'a> {
    family: &'a mut MetricFamily,
}

impl Families {
    /// Adds a family of gauges.
    pub fn gauge(&mut self, title: Title) -> Family<'_> {
        self.add(MetricType::GAUGE, title)
    }

    /// Adds a family of counters.
    pub fn counter(&mut self, title: Title) -> Family<'_> {
        self.add(MetricType::COUNTER, title)
    }

    /// Adds a family of histograms.
    pub fn histogram(&mut self, title: Title) -> Family<'_> {
        self.add(MetricType::HISTOGRAM, title)
    }

    /// Adds families of gauges, then of counters, each with one sample per item of `all`.
    pub fn add_rows<T, const N: usize>(
        &mut self,
        all: &[T],
        labels: fn(&T) -> [(&'static str, &'static str); N],
        gauges: &[Row<T>],
        counters: &[Row<T>],
    ) {
        let of_kind =
            |rows: &[Row<T>], kind| rows.iter().map(move |row| (kind, *row)).collect::<Vec<_>>();
        let rows = [
            of_kind(gauges, MetricType::GAUGE),
            of_kind(counters, MetricType::COUNTER),
        ];
        for (kind, (title, read)) in rows.into_iter().flatten() {
            let mut family = self.add(kind, title);
            for item in all {
                family.sample(&labels(item), read(item));
            }
        }
    }

    fn add(&mut self, kind: MetricType, (name, help): Title) -> Family<'_> {
        let mut family = MetricFamily::default();
        family.set_name(name.to_owned());
        family.set_help(help.to_owned());
        family.set_field_type(kind);
        let at = self.0.len();
        self.0.push(family);
        Family {
            family: &mut self.0[at],
        }
    }

    /// Returns the text of all families.
    ///
    /// # Errors
    ///
    /// Returns an error if a name is not allowed by the format.
    pub fn text(mut self) -> prometheus::Result<String> {
        self.0.retain(|family| !family.get_metric().is_empty());
        let text = TextEncoder::new().encode_to_string(&self.0)?;
        // The encoder writes infinite values as Rust does. Only a value is preceded by a space and
        // ends a line: no help text ends with the word.
        Ok(text
            .replace(" inf\n", " +Inf\n")
            .replace(" -inf\n", " -Inf\n"))
    }
}

impl Family<'_> {
    /// Adds a sample of a gauge or a counter.
    pub fn sample(&mut self, labels: Labels<'_>, value: f64) -> &mut Self {
        let mut metric = metric_with(labels);
        if self.family.get_field_type() == MetricType::COUNTER {
            let mut counter = Counter::default();
            counter.set_value(value);
            metric.set_counter(counter);
        } else {
            let mut gauge = Gauge::default();
            gauge.set_value(value);
            metric.set_gauge(gauge);
        }
        self.family.mut_metric().push(metric);
        self
    }

    /// Adds a sample of a histogram.
    pub fn histogram_sample(
        &mut self,
        labels: Labels<'_>,
        unit: Unit,
        histogram: &Histogram,
    ) -> &mut Self {
        let buckets = histogram.cumulative_counts().map(|(bound, count)| {
            let mut bucket = Bucket::default();
            bucket.set_upper_bound(unit.bound(bound));
            bucket.set_cumulative_count(count);
            bucket
        });
        let mut sample = proto::Histogram::default();
        sample.set_bucket(buckets.collect());
        sample.set_sample_count(histogram.count());
        sample.set_sample_sum(unit.sum(histogram.sum()));
        let mut metric = metric_with(labels);
        metric.set_histogram(sample);
        self.family.mut_metric().push(metric);
        self
    }
}

fn metric_with(labels: Labels<'_>) -> Metric {
    let pairs = labels.iter().map(|(name, value)| {
        let mut pair = LabelPair::default();
        pair.set_name((*name).to_owned());
        pair.set_value((*value).to_owned());
        pair
    });
    Metric::from_label(pairs.collect())
}
