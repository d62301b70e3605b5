//! A sheet as a figure. The PNG form is drawn at three times the size and averaged down, which makes edges and letters smooth.

use plotters::prelude::{BitMapBackend, SVGBackend};

use super::canvas::{Figure, FigureError, HEIGHT, Sheet, WIDTH, draw, register_font};

/// The number of pixels in each direction that are averaged into one.
const OVERSAMPLING: usize = 3;
/// The drawing library sets letters this part of their size above the middle.
const LETTER_DROP: f64 = 0.14;
const CHANNELS: usize = 3;

/// Draws the sheet in both forms.
pub(super) fn figure(chart: &impl Sheet) -> Result<Figure, FigureError> {
    register_font()?;
    let mut svg = String::new();
    draw(chart, SVGBackend::with_string(&mut svg, (WIDTH as u32, HEIGHT as u32)), 1.0, 0.0)?;
    let (width, height) = (WIDTH as usize, HEIGHT as usize);
    let large = (width * OVERSAMPLING, height * OVERSAMPLING);
    let mut pixels = vec![0; large.0 * large.1 * CHANNELS];
    let bitmap = BitMapBackend::with_buffer(&mut pixels, (large.0 as u32, large.1 as u32));
    draw(chart, bitmap, OVERSAMPLING as f64, LETTER_DROP)?;
    Ok(Figure { svg, png: encode(&averaged(&pixels, (width, height)), (width, height))? })
}

/// Scales an image down: each pixel of the result is the mean of the corresponding pixels.
fn averaged(pixels: &[u8], (width, height): (usize, usize)) -> Vec<u8> {
    let row_bytes = width * OVERSAMPLING * CHANNELS;
    let sample = |x: usize, y: usize, channel: usize| {
        let spots = (0..OVERSAMPLING * OVERSAMPLING).map(|n| (n % OVERSAMPLING, n / OVERSAMPLING));
        let byte = |(dx, dy)| {
            let at = (y * OVERSAMPLING + dy) * row_bytes + (x * OVERSAMPLING + dx) * CHANNELS + channel;
            u16::from(pixels[at])
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
