//! The PNG form: drawn at three times the size and averaged down, which makes edges and letters smooth.

use plotters::prelude::{BitMapBackend, IntoDrawingArea};

use super::canvas::{self, FigureError, HEIGHT, Sheet, WIDTH};

/// How many pixels each way are averaged into one.
const OVERSAMPLING: usize = 3;
/// The drawing library sets letters this part of their size above the middle.
const LETTER_DROP: f64 = 0.14;
const CHANNELS: usize = 3;

/// The sheet as a PNG image.
pub(super) fn png(chart: &impl Sheet) -> Result<Vec<u8>, FigureError> {
    let (width, height) = (WIDTH as usize, HEIGHT as usize);
    let large = (width * OVERSAMPLING, height * OVERSAMPLING);
    let mut pixels = vec![0; large.0 * large.1 * CHANNELS];
    {
        let size = (large.0 as u32, large.1 as u32);
        let area = BitMapBackend::with_buffer(&mut pixels, size).into_drawing_area();
        canvas::draw(chart, &area, OVERSAMPLING as f64, LETTER_DROP)?;
    }
    encode(&averaged(&pixels, (width, height)), (width, height))
}

/// Each pixel of the result is the mean of the corresponding pixels.
fn averaged(pixels: &[u8], (width, height): (usize, usize)) -> Vec<u8> {
    let row_bytes = width * OVERSAMPLING * CHANNELS;
    let sample = |x: usize, y: usize, channel: usize| {
        let spots = (0..OVERSAMPLING * OVERSAMPLING).map(|n| (n % OVERSAMPLING, n / OVERSAMPLING));
        let byte = |(dx, dy)| {
            u16::from(
                pixels[(y * OVERSAMPLING + dy) * row_bytes + (x * OVERSAMPLING + dx) * CHANNELS + channel],
            )
        };
        (spots.map(byte).sum::<u16>() / (OVERSAMPLING * OVERSAMPLING) as u16) as u8
    };
    let rows = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    rows.flat_map(|(x, y)| (0..CHANNELS).map(move |channel| (x, y, channel)))
        .map(|(x, y, channel)| sample(x, y, channel))
        .collect()
}

fn encode(pixels: &[u8], (width, height): (usize, usize)) -> Result<Vec<u8>, FigureError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width as u32, height as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header()?.write_image_data(pixels)?;
    Ok(bytes)
}
